// Where a command writes: stdout for what it was asked for, stderr for what is wrong with the asking.

/** Each takes whole lines without the line's end. */
export interface CommandOutput {
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
}
