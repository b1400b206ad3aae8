// The one grammar of DNS names for site URLs and allowed domains: were they read by two, a host could slip between them.

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const FORM = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const HOST_NAME_MAX_LENGTH = 253;

/**
 * Whether `text` is ASCII letters, digits and inner hyphens in labels of 1 to 63, at most 253 characters (RFC 1123 §2.1).
 * Nothing is repaired: no trailing dot, no percent-encoding, no characters that would fold to ASCII.
 */
export function isHostName(text: string): boolean {
  return text.length <= HOST_NAME_MAX_LENGTH && FORM.test(text);
}
