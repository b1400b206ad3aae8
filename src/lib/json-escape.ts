// How long a string of JSON is once it is decoded, without decoding it.

const LETTER_D_LOWER = 0x64;
const LETTER_D_UPPER = 0x44;
const LETTER_U = 0x75;
const DIGIT_0 = 0x30;
const DIGIT_8 = 0x38;

/**
 * UTF-8 bytes of what the escape stands for that has these four bytes behind its backslash. Each half of a surrogate pair
 * is 2 of its 4 bytes.
 */
export function escapedBytes(letter = 0, first = 0, second = 0, third = 0): number {
  if (letter !== LETTER_U) return 1;
  const isSurrogate = (first === LETTER_D_LOWER || first === LETTER_D_UPPER) && second >= DIGIT_8;
  if (isSurrogate || (first === DIGIT_0 && second < DIGIT_8)) {
    return first === DIGIT_0 && second === DIGIT_0 && third < DIGIT_8 ? 1 : 2;
  }
  return 3;
}
