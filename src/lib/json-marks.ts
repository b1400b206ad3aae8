// The bytes of JSON's punctuation (RFC 8259 §2, §7), for those who read documents byte by byte.

export const QUOTE = 0x22;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const COLON = 0x3a;
export const BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
export const BRACE_END = 0x7d;
