import { faultsOf, type SearchFault, type Token, tokensOf } from './tokens';
import { type ComparisonOperator, numberFields, type Search, type SearchField, textFields } from './syntax-tree';

/** Maximum nesting of parentheses. */
const DEEPEST = 50;
/** Maximum number of comparisons and words. */
const MOST_TERMS = 100;
/** Maximum number of names in a path. */
const LONGEST_PATH = 20;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const HEX = /^[0-9a-f]{32}$/i;

/** Other names of fields. */
const ALIASES: Readonly<Record<string, string>> = { slug: 'name', kind: 'type', trace: 'trace_id', code: 'error' };

/**
 * Parses the search in a parameter: comparisons and bare words, joined by AND, which may be left out, and OR, which binds less tightly,
 * with parentheses. Undefined if it is empty. Throws `invalid_request` with `position` (from 0) and `caret` for a syntax error, and for
 * more than 4,096 characters, 100 terms or 50 nested parentheses.
 */
export const parseSearch = (search: string, parameter = 'search'): Search | undefined => {
  const refuse = faultsOf(search, parameter);
  const tokens = tokensOf(search, refuse);
  return tokens.length === 0 ? undefined : new Parser(tokens, search.length, refuse).parse();
};

class Parser {
  private next = 0;
  private depth = 0;
  private terms = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly end: number,
    private readonly refuse: SearchFault,
  ) {}

  parse(): Search {
    const tree = this.alternatives();
    const rest = this.peek();
    if (rest !== undefined) throw this.fault('this ")" has no matching "(".', rest.at);
    return tree;
  }

  private peek(): Token | undefined {
    return this.tokens[this.next];
  }

  private fault(reason: string, at = this.peek()?.at ?? this.end): Error {
    return this.refuse(at, reason);
  }

  private isKeyword(keyword: 'AND' | 'OR'): boolean {
    const token = this.peek();
    return token?.kind === 'text' && !token.isQuoted && token.value.text === keyword;
  }

  private alternatives(): Search {
    const parts = [this.conjunction()];
    while (this.isKeyword('OR')) {
      this.next += 1;
      parts.push(this.conjunction());
    }
    return joined('or', parts);
  }

  private conjunction(): Search {
    const parts = [this.term()];
    for (
      let token = this.peek();
      token !== undefined && token.kind !== 'close' && !this.isKeyword('OR');
      token = this.peek()
    ) {
      if (this.isKeyword('AND')) this.next += 1;
      parts.push(this.term());
    }
    return joined('and', parts);
  }

  private term(): Search {
    const token = this.peek();
    if (token === undefined) throw this.fault('a comparison or a word is missing at the end.');
    if (token.kind === 'open') return this.nested(token.at);
    if (token.kind !== 'text') throw this.fault('a comparison or a word is missing here.');
    if (this.isKeyword('AND') || this.isKeyword('OR'))
      throw this.fault(
        `a comparison or a word is missing before "${token.value.text}"; put the word in quotes to look for it.`,
      );
    if ((this.terms += 1) > MOST_TERMS) throw this.fault(`it has more than ${MOST_TERMS} comparisons and words.`);
    this.next += 1;
    const operator = this.peek();
    if (operator?.kind === 'operator') return this.comparison(token, operator.operator);
    const { text } = token.value;
    if (UUID.test(text) || HEX.test(text))
      return { kind: 'id', hex: text.replaceAll('-', '').toLowerCase(), text: text.toLowerCase() };
    if (text === '') throw this.fault('the word in quotes is empty.', token.at);
    return { kind: 'word', value: token.value };
  }

  private nested(at: number): Search {
    if (this.depth === DEEPEST) throw this.fault(`more than ${DEEPEST} parentheses are nested.`);
    this.depth += 1;
    this.next += 1;
    const inner = this.alternatives();
    if (this.peek()?.kind !== 'close') throw this.fault('this "(" is not closed.', at);
    this.next += 1;
    this.depth -= 1;
    return inner;
  }

  private comparison(name: Token & { readonly kind: 'text' }, operator: ComparisonOperator): Search {
    const field = this.field(name.value.text, name.at);
    this.next += 1;
    const value = this.peek();
    if (value?.kind !== 'text') throw this.fault(`a value is missing after "${operator}".`);
    this.next += 1;
    return { kind: 'comparison', field, operator, value: value.value };
  }

  private field(written: string, at: number): SearchField {
    const name = Object.hasOwn(ALIASES, written) ? ALIASES[written] : written;
    const own = [...textFields, ...numberFields].find((candidate) => candidate === name);
    if (own !== undefined) return { of: own };
    const [of, ...path] = written.split('.');
    if (of !== 'request' && of !== 'response')
      throw this.fault(
        `"${written.slice(0, 100)}" is not a field; the fields are ${[...textFields, ...numberFields].join(', ')}, and paths that begin with "request." or "response.".`,
        at,
      );
    if (path.length === 0 || path.length > LONGEST_PATH || path.includes(''))
      throw this.fault(`a path has 1 to ${LONGEST_PATH} names, joined by dots, such as "${of}.order.total".`, at);
    return { of, path };
  }
}

const joined = (kind: 'and' | 'or', parts: readonly Search[]): Search => {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind, parts };
};
