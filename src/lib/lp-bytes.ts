// Length-prefixed bytes, LP(x) of the site-choice hash: without the lengths, ('ab', 'c') and ('a', 'bc') would hash
// alike.

/** Of the length in front. */
export const PREFIX_BYTES = 4;

/** `head || LP(part) || …` in one piece, LP being `u32 big-endian byte length || bytes` (redirect-requirements 5.1). */
export function joinPrefixed(head: ArrayLike<number>, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = head.length;
  for (const part of parts) size += PREFIX_BYTES + part.length;
  const joined = new Uint8Array(size);
  joined.set(head);
  let at = head.length;
  for (const part of parts) {
    // Not by a DataView: to make one costs more than all the rest.
    for (let index = 0; index < PREFIX_BYTES; index += 1) joined[at + index] = part.length >>> (24 - 8 * index);
    joined.set(part, at + PREFIX_BYTES);
    at += PREFIX_BYTES + part.length;
  }
  return joined;
}
