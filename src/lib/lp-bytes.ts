// Length-prefixed bytes, LP(x) of the site-choice hash: without the lengths, ('ab', 'c') and ('a', 'bc') would hash
// alike.

/** `u32 big-endian byte length || bytes` (redirect-requirements 5.1). */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const prefixed = new Uint8Array(4 + bytes.length);
  new DataView(prefixed.buffer).setUint32(0, bytes.length);
  prefixed.set(bytes, 4);
  return prefixed;
}
