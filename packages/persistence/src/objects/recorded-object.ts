import { type ObjectRecord } from './object-record';

/** A larger content is recorded by its size and hash alone, so it need not be read. Characters. */
const MAX_READ_LENGTH = 64 * 1024;

/**
 * An object as the audit has it: its content is a document, so that secrets in it are masked by the names of their fields. What was read from
 * the content is left out.
 */
export const recordedObject = ({ content, parsedFields: _read, ...object }: ObjectRecord): object => ({
  ...object,
  content: content.length > MAX_READ_LENGTH ? content : readJson(content),
});

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};
