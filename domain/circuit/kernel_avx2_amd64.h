// The bodies of the AVX2 kernels; the including file names them and defines the arithmetic of its width.
//
// Registers: DI, SI the planes; R8 free, R9 controls, R10 selectors, R11 table, BX the call; AX runs over the subsets of
// free; CX counts groups; R13 the matrix; R14, R15 the group's real and imaginary part. Y8, Y9 accumulate a row; a 64-byte
// vector is done in two halves.
// No fused multiply-add: every product and every sum rounds, in the order of applyScalar.

// PROLOGUE loads a kernelCall; a test checks the field offsets.
#define PROLOGUE \
	MOVQ re+0(FP), DI; \
	MOVQ im+8(FP), SI; \
	MOVQ call+16(FP), BX; \
	MOVQ 0(BX), R8; \
	MOVQ 8(BX), R9; \
	MOVQ 16(BX), R10; \
	MOVQ 24(BX), R11; \
	MOVQ 32(BX), CX; \
	MOVQ 48(BX), R12; \
	XORQ AX, AX

// GROUP finds the group's matrix (2^shift bytes each) and amplitudes, and steps AX to the next subset of free.
#define GROUP(shift) \
	MOVQ AX, DX; \
	ORQ R9, DX; \
	PEXTQ R10, DX, R13; \
	SHLQ $shift, R13; \
	ADDQ R11, R13; \
	SHLQ $6, DX; \
	LEAQ (DI)(DX*1), R14; \
	LEAQ (SI)(DX*1), R15; \
	SUBQ R8, AX; \
	ANDQ R8, AX
