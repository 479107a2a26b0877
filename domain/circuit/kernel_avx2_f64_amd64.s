#include "textflag.h"
#include "kernel_avx2_amd64.h"

// FIRST starts a row with column 0; NEXT adds a column: r + mr·xr − mi·xi and i + mr·xi + mi·xr, left to right.
#define FIRST(at, xr, xi) \
	VMOVUPD at(R13), Y10; VMOVUPD (at+64)(R13), Y11; \
	VMULPD xr, Y10, Y8; VMULPD xi, Y11, Y12; \
	VMULPD xi, Y10, Y9; VMULPD xr, Y11, Y13; \
	VSUBPD Y12, Y8, Y8; VADDPD Y13, Y9, Y9

#define NEXT(at, xr, xi) \
	VMOVUPD at(R13), Y10; VMOVUPD (at+64)(R13), Y11; \
	VMULPD xr, Y10, Y12; VMULPD xi, Y10, Y13; \
	VMULPD xi, Y11, Y14; VMULPD xr, Y11, Y15; \
	VADDPD Y12, Y8, Y8; VADDPD Y13, Y9, Y9; \
	VSUBPD Y14, Y8, Y8; VADDPD Y15, Y9, Y9

#define APPLY0 ·apply0AVX2F64
#define APPLY1 ·apply1AVX2F64
#define APPLY2 ·apply2AVX2F64
#define APPLY3 ·apply3AVX2F64
#include "apply_avx2_amd64.h"

#undef APPLY0
#undef APPLY1
#undef APPLY2
#undef APPLY3
#undef FIRST
#undef NEXT

// The same without imaginary parts of the matrix.
#define FIRST(at, xr, xi) \
	VMOVUPD at(R13), Y10; \
	VMULPD xr, Y10, Y8; VMULPD xi, Y10, Y9

#define NEXT(at, xr, xi) \
	VMOVUPD at(R13), Y10; \
	VMULPD xr, Y10, Y12; VMULPD xi, Y10, Y13; \
	VADDPD Y12, Y8, Y8; VADDPD Y13, Y9, Y9

#define APPLY0 ·apply0RealAVX2F64
#define APPLY1 ·apply1RealAVX2F64
#define APPLY2 ·apply2RealAVX2F64
#define APPLY3 ·apply3RealAVX2F64
#include "apply_avx2_amd64.h"
