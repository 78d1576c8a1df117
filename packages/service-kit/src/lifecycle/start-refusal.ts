import { readFileSync } from 'node:fs';

/** A service does not start, for a reason that an operator can act on. The message is one clear sentence, printed without a stack. */
export class StartRefusal extends Error {
  override readonly name = 'StartRefusal';
}

/** Text of a PEM file. Throws {@link StartRefusal} if it cannot be read; `variable` is the variable that names it. */
export const readPemFile = (variable: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException; // what the file system throws
    throw new StartRefusal(`${variable} names ${file}, which cannot be read (${code}).`);
  }
};
