// An expected outcome as a value: what was asked for, or why it cannot be had. Throwing is left to bugs.

export type Result<Value, Fault> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: Fault };

/** The value that was asked for. */
export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** Why it cannot be had: a closed label or one sentence, never an `Error`. */
export function fault<Fault>(reason: Fault): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: reason };
}
