/** Symmetric positive definite matrices of n rows, stored row after row. */

/** Returns the inverse of A, which is symmetric and positive definite: the transpose of the inverse of L times this inverse, where L·Lᵀ = A. */
export function inverseOf(a: Float64Array, n: number): Float64Array {
  const root = inverseOfTriangle(cholesky(a, n), n);
  const inverse = new Float64Array(n * n);
  for (let k = 0; k < n; k++) {
    const rowK = k * n;
    for (let i = 0; i <= k; i++) {
      const factor = root[rowK + i] as number;
      for (let j = 0; j <= i; j++) {
        inverse[i * n + j] = (inverse[i * n + j] as number) + factor * (root[rowK + j] as number);
      }
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) inverse[j * n + i] = inverse[i * n + j] as number;
  }
  return inverse;
}

/** Returns the lower triangular matrix L with L·Lᵀ = A (Cholesky decomposition). A is symmetric and positive definite. */
function cholesky(a: Float64Array, n: number): Float64Array {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const [rowI, rowJ] = [i * n, j * n];
      let sum = a[rowI + j] as number;
      for (let k = 0; k < j; k++) sum -= (l[rowI + k] as number) * (l[rowJ + k] as number);
      l[rowI + j] = i === j ? Math.sqrt(sum) : sum / (l[rowJ + j] as number);
    }
  }
  return l;
}

/**
 * Returns x with A·x = b, by the method of conjugate gradients (M. R. Hestenes and E. Stiefel, 1952). `multiplied` returns A·v for the symmetric and
 * positive definite matrix A, which is not stored.
 */
export function solved(multiplied: (v: Float64Array) => Float64Array, b: Float64Array): Float64Array {
  const x = new Float64Array(b.length);
  const residual = Float64Array.from(b);
  const direction = Float64Array.from(b);
  let square = dot(residual, residual);
  const enough = 1e-24 * square;
  for (let round = 0; round < 2 * b.length + 10 && square > enough; round++) {
    const product = multiplied(direction);
    const length = square / dot(direction, product);
    for (let i = 0; i < x.length; i++) {
      x[i] = (x[i] as number) + length * (direction[i] as number);
      residual[i] = (residual[i] as number) - length * (product[i] as number);
    }
    const next = dot(residual, residual);
    for (let i = 0; i < x.length; i++) {
      direction[i] = (residual[i] as number) + (next / square) * (direction[i] as number);
    }
    square = next;
  }
  return x;
}

/** Returns the scalar product of two vectors. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Returns the inverse of the lower triangular matrix L. */
function inverseOfTriangle(l: Float64Array, n: number): Float64Array {
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    const diagonal = l[i * n + i] as number;
    for (let k = 0; k < i; k++) {
      const factor = (l[i * n + k] as number) / diagonal;
      const [rowI, rowK] = [i * n, k * n];
      for (let j = 0; j <= k; j++) {
        inverse[rowI + j] = (inverse[rowI + j] as number) - factor * (inverse[rowK + j] as number);
      }
    }
    inverse[i * n + i] = 1 / diagonal;
  }
  return inverse;
}
