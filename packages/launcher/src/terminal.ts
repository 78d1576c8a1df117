/** Says things to the person at the terminal, one line each, with the time since the start. */
export interface Terminal {
  say(line: string): void;
  /** Says a line without the time. */
  plain(line: string): void;
}

export const createTerminal = (write: (text: string) => void, now: () => number): Terminal => {
  const startedAt = now();
  return {
    say: (line) => write(`${((now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}\n`),
    plain: (line) => write(`${line}\n`),
  };
};
