#include "textflag.h"
#include "kernel_avx512_amd64.h"

// FIRST starts a row with column 0; NEXT adds a column: r + mr·xr − mi·xi and i + mr·xi + mi·xr, left to right.
#define FIRST(at, xr, xi) \
	VMOVUPD at(R13), Z18; VMOVUPD (at+64)(R13), Z19; \
	VMULPD xr, Z18, Z16; VMULPD xi, Z19, Z20; \
	VMULPD xi, Z18, Z17; VMULPD xr, Z19, Z21; \
	VSUBPD Z20, Z16, Z16; VADDPD Z21, Z17, Z17

#define NEXT(at, xr, xi) \
	VMOVUPD at(R13), Z18; VMOVUPD (at+64)(R13), Z19; \
	VMULPD xr, Z18, Z20; VMULPD xi, Z18, Z21; \
	VMULPD xi, Z19, Z22; VMULPD xr, Z19, Z23; \
	VADDPD Z20, Z16, Z16; VADDPD Z21, Z17, Z17; \
	VSUBPD Z22, Z16, Z16; VADDPD Z23, Z17, Z17

#define APPLY0 ·apply0AVX512F64
#define APPLY1 ·apply1AVX512F64
#define APPLY2 ·apply2AVX512F64
#define APPLY3 ·apply3AVX512F64
#include "apply_avx512_amd64.h"

#undef APPLY0
#undef APPLY1
#undef APPLY2
#undef APPLY3
#undef FIRST
#undef NEXT

// The same without imaginary parts of the matrix.
#define FIRST(at, xr, xi) \
	VMOVUPD at(R13), Z18; \
	VMULPD xr, Z18, Z16; VMULPD xi, Z18, Z17

#define NEXT(at, xr, xi) \
	VMOVUPD at(R13), Z18; \
	VMULPD xr, Z18, Z20; VMULPD xi, Z18, Z21; \
	VADDPD Z20, Z16, Z16; VADDPD Z21, Z17, Z17

#define APPLY0 ·apply0RealAVX512F64
#define APPLY1 ·apply1RealAVX512F64
#define APPLY2 ·apply2RealAVX512F64
#define APPLY3 ·apply3RealAVX512F64
#include "apply_avx512_amd64.h"

// func exchangeAVX512F64(plane unsafe.Pointer, pairs, free, high uint64, choice unsafe.Pointer)
// For every pair of vectors `high` bytes apart, picks the lanes of the new pair from both by the two choices.
TEXT ·exchangeAVX512F64(SB), NOSPLIT, $0-40
	MOVQ plane+0(FP), DI
	MOVQ pairs+8(FP), CX
	MOVQ free+16(FP), R8
	MOVQ high+24(FP), R9
	MOVQ choice+32(FP), BX
	VMOVUPD (BX), Z8
	VMOVUPD 64(BX), Z9
	XORQ AX, AX
pair:
	MOVQ AX, DX
	SHLQ $6, DX
	ADDQ DI, DX
	SUBQ R8, AX
	ANDQ R8, AX
	VMOVUPD (DX), Z0
	VMOVUPD (DX)(R9*1), Z1
	VMOVAPD Z8, Z2
	VMOVAPD Z9, Z3
	VPERMI2PD Z1, Z0, Z2
	VPERMI2PD Z1, Z0, Z3
	VMOVUPD Z2, (DX)
	VMOVUPD Z3, (DX)(R9*1)
	DECQ CX
	JNZ pair
	VZEROUPPER
	RET
