import { type DecisionLogEntry } from '@decision/contracts';

type Cell = string | number | boolean | undefined;

/** Columns of a CSV export, in order. Lists and objects are written as JSON. */
const COLUMNS: readonly (readonly [name: string, of: (entry: DecisionLogEntry) => Cell])[] = [
  ['id', ({ id }) => id],
  ['timestamp', ({ timestamp }) => timestamp],
  ['name', ({ name }) => textOf(name)],
  ['endpoint', ({ endpoint }) => textOf(endpoint)],
  ['status', ({ status }) => status],
  ['type', ({ decision }) => decision.type],
  ['asset_id', ({ decision }) => textOf(decision.asset_id)],
  ['selector', ({ decision }) => textOf(decision.selector)],
  ['version_id', ({ decision }) => textOf(decision.version_id)],
  ['context', ({ decision }) => textOf(decision.context)],
  ['instance', ({ decision }) => textOf(decision.instance)],
  ['flow', ({ decision }) => textOf(decision.flow)],
  ['execution_id', ({ decision }) => textOf(decision.execution_id)],
  ['stands_for', ({ decision }) => decision.stands_for],
  ['request_id', ({ decision }) => textOf(decision.request_id)],
  ['key_id', ({ decision }) => textOf(decision.key_id)],
  ['trace_id', ({ trace_id: trace }) => textOf(trace)],
  ['error', ({ error }) => textOf(error)],
  ['abbreviated', ({ abbreviated }) => abbreviated],
  ['request', ({ request }) => jsonOf(request)],
  ['response', ({ response }) => jsonOf(response)],
  ['items', ({ decision }) => jsonOf(decision.items)],
  ['matched_items', ({ matched_items: items }) => jsonOf(items)],
  ['path_trace', ({ path_trace: trace }) => jsonOf(trace)],
];

/** Names of the columns, as a row without its line feed. */
export const CSV_HEADER = `${COLUMNS.map(([name]) => name).join(',')}\r`;

/**
 * One decision as a row without its line feed. No cell can be read as a spreadsheet formula, whether cells are split at commas, semicolons
 * or tabs.
 */
export const toCsvRow = (entry: DecisionLogEntry): string =>
  `${COLUMNS.map(([, of]) => quoted(of(entry))).join(',')}\r`;

const quoted = (cell: Cell): string => (cell === undefined ? '' : `"${String(cell).replaceAll('"', '""')}"`);

/** Separators inside a cell at which a program with other settings may start a new cell. */
const PIECE = /[^,;|\t\r\n]+/g;
/** Full-width signs count too, since some programs treat them like the usual ones. */
const FORMULA = /^[\s\p{Cc}\p{Cf}"']*[=+\-@＝＋－＠]/u;

/** A text with an apostrophe before each formula, so that spreadsheets read it as text. */
const textOf = (text: string | undefined): Cell =>
  text?.replace(PIECE, (piece) => (FORMULA.test(piece) ? `'${piece}` : piece));

/** As JSON; characters at which other programs split cells are escaped, without a change of meaning. */
const jsonOf = (value: unknown): Cell =>
  value === undefined ? undefined : JSON.stringify(value).replace(/[;|]/g, escapeOf);

const escapeOf = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
