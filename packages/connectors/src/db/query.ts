import { ConnectorFailure } from '../connector';
import { inputAt, revealed } from '../templates';

/** A query whose inputs are parameters. */
interface ReadQuery {
  /** With `$1`, `$2` in place of the inputs. */
  readonly text: string;
  /** Names of the inputs, by number. */
  readonly names: readonly string[];
}

/** An input in a query: `:name`, `{{name}}`, with dots for members. */
const NAME = /^:([A-Za-z_]\w*(?:\.\w+)*)|^\{\{\s*([^{}]+?)\s*\}\}/;
const DOLLAR_QUOTE = /^\$(?:[A-Za-z_]\w*)?\$/;
const WORD = /^[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/;
/** Longest name of an input or tag that is recognized. */
const MAX_NAME = 600;

/** Replaces inputs by parameters, except inside texts, quoted names and comments. One pass. */
export const readQuery = (query: string): ReadQuery => {
  const names: string[] = [];
  let text = '';
  let at = 0;
  while (at < query.length) {
    const end = endOfQuoted(query, at);
    if (end > at) {
      const quoted = query.slice(at, end);
      if (quoted.startsWith("'") && quoted.includes('{{')) throw inQuotes();
      text += quoted;
      at = end;
      continue;
    }
    const rest = query.slice(at, at + MAX_NAME);
    const found = rest.startsWith('::') ? null : NAME.exec(rest);
    const name = found?.[1] ?? found?.[2];
    if (found !== null && name !== undefined) {
      if (!names.includes(name)) names.push(name);
      text += `$${names.indexOf(name) + 1}`;
      at += found[0].length;
      continue;
    }
    const taken = rest.startsWith('::') ? '::' : (WORD.exec(rest)?.[0] ?? rest.charAt(0));
    text += taken;
    at += taken.length;
  }
  return { text, names };
};

/** The end of the text, quoted name or comment that begins at a position; the position itself if none begins. */
const endOfQuoted = (query: string, at: number): number => {
  const [first, second] = [query[at], query[at + 1]];
  if (first === "'" || first === '"') return endOfText(query, at + 1, first, false);
  if ((first === 'e' || first === 'E') && second === "'" && !isInWord(query, at))
    return endOfText(query, at + 2, "'", true);
  if (first === '-' && second === '-') return after(query, '\n', at, query.length);
  if (first === '/' && second === '*') return after(query, '*/', at + 2);
  if (first !== '$' || isInWord(query, at)) return at;
  const tag = DOLLAR_QUOTE.exec(query.slice(at, at + MAX_NAME))?.[0];
  return tag === undefined ? at : after(query, tag, at + tag.length);
};

const isInWord = (query: string, at: number): boolean => at > 0 && /[\w$]/.test(query.charAt(at - 1));

const endOfText = (query: string, begin: number, quote: string, hasEscapes: boolean): number => {
  for (let at = begin; at < query.length; at += 1) {
    if (hasEscapes && query[at] === '\\') at += 1;
    else if (query[at] === quote) {
      if (query[at + 1] !== quote) return at + 1;
      at += 1;
    }
  }
  throw notClosed();
};

const after = (query: string, end: string, from: number, otherwise?: number): number => {
  const found = query.indexOf(end, from);
  if (found >= 0) return found + end.length;
  if (otherwise === undefined) throw notClosed();
  return otherwise;
};

const notClosed = (): ConnectorFailure =>
  new ConnectorFailure('The query has a quote or a comment that is not closed; close it.', { outcome: 'invalid' });

const inQuotes = (): ConnectorFailure =>
  new ConnectorFailure('The query has {{ }} inside quotes; write it without them, since inputs are parameters.', {
    outcome: 'invalid',
  });

/** The values of a query's inputs: a list is an array, an object JSON, a missing value null; secrets are revealed. */
export const parametersOf = ({ names }: ReadQuery, inputs: Readonly<Record<string, unknown>>): readonly unknown[] =>
  names.map((name) => revealed(inputAt(inputs, name)) ?? null);
