import { JsonScanner } from './json-scanner';

/** Position at which text is not JSON. */
interface SyntaxFault {
  /** Characters from 0; the length of the text if it ends too early. */
  readonly position: number;
  readonly reason: string;
}

/**
 * Finds the first fault of a text that is known not to be JSON. One pass, no recursion: nesting depth is bounded by memory only. Returns
 * undefined for text that is JSON after all.
 */
export const findSyntaxFault = (text: string): SyntaxFault | undefined => {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner('value', text.length); // nesting is never deeper than the length
  for (let at = 0; at < bytes.length && scanner.fault === undefined;) at = scanner.scan(bytes, at);
  if (scanner.fault === undefined) {
    scanner.endPiece(bytes);
    scanner.end();
  }
  if (scanner.fault === undefined) return undefined;
  const { position, reason } = scanner.fault.token;
  return { position: bytes.toString('utf8', 0, position).length, reason };
};
