// Time and chance as arguments: whoever needs them is given them, so a test decides both.

/** The wall clock: Unix time in whole milliseconds (redirect-requirements 6.3: fractions would break the ledger). */
export type NowMs = () => number;

/** `size` bytes from a cryptographically secure source. */
export type RandomBytes = (size: number) => Uint8Array;
