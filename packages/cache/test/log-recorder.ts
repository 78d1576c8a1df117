import { type CacheLog } from '../src';

export interface LogLine {
  readonly level: keyof CacheLog;
  readonly fields: object;
  readonly message: string;
}

/** A logger that records its lines. */
export interface LogRecorder extends CacheLog {
  readonly lines: LogLine[];
  /** Everything that was logged, as text. */
  text(): string;
}

export const createLogRecorder = (): LogRecorder => {
  const lines: LogLine[] = [];
  const at =
    (level: keyof CacheLog) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields, message });
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    text: () => JSON.stringify(lines),
  };
};
