import { parseJson } from '@decision/contracts';
import {
  checkSinksFile,
  type SecretFile,
  sinkChecks,
  type WrittenPath,
  type WrittenSink,
  type WrittenWebSink,
} from './sinks-file';
import {
  type FieldMask,
  type FieldPath,
  type SinkFilter,
  type SinkSettings,
  type TargetSettings,
  type WebSettings,
} from './sink-settings';
import { areDocuments, recordFields } from './sink-record';

interface ReadSinksOptions {
  /** Content of a secret's file, without line breaks at its end. Throws if it cannot be read. */
  readonly readSecret: (file: string) => string;
  /** Full names of topics that this deployment itself reads. */
  readonly ownTopics: readonly string[];
}

/** The sinks of a file, or all its faults, one sentence each. No sentence shows a secret. */
type ReadSinks =
  | { readonly ok: true; readonly sinks: readonly SinkSettings[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Names that would collide with other groups of the collector. */
const TAKEN_NAMES: readonly string[] = ['archive', 'table'];

/** Reads the file of sinks. Never throws. */
export const readSinks = (text: string, options: ReadSinksOptions): ReadSinks => {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { line, column, reason } = parsed.problem;
    return { ok: false, problems: [`It is not JSON: at line ${line}, column ${column}, ${reason}.`] };
  }
  const checked = checkSinksFile(parsed.value);
  if (!checked.ok)
    return {
      ok: false,
      problems: checked.problems.map(({ path, message }) => `${path === '' ? 'The file' : path} ${message}.`),
    };
  const problems: string[] = [];
  const sinks: SinkSettings[] = [];
  for (const [index, written] of checked.value.sinks.entries()) {
    const tell = (pointer: string, sentence: string): void =>
      void problems.push(`/sinks/${index}${pointer} ${sentence}`);
    const sink = readSink(written, options, tell);
    if (sink === undefined) continue;
    if (sinks.some((other) => other.name === sink.name)) tell('/name', `"${sink.name}" names another sink too.`);
    sinks.push(sink);
  }
  return problems.length === 0 ? { ok: true, sinks } : { ok: false, problems };
};

type Tell = (pointer: string, sentence: string) => void;

const isKind = (kind: unknown): kind is keyof typeof sinkChecks =>
  typeof kind === 'string' && Object.hasOwn(sinkChecks, kind);

const readSink = (written: unknown, options: ReadSinksOptions, tell: Tell): SinkSettings | undefined => {
  const kind = typeof written === 'object' && written !== null && 'kind' in written ? written.kind : undefined;
  if (!isKind(kind)) {
    tell('/kind', `must be one of ${Object.keys(sinkChecks).join(', ')}.`);
    return undefined;
  }
  const checked = sinkChecks[kind](written);
  if (!checked.ok) {
    for (const { path, message } of checked.problems) tell(path, `${message}.`);
    return undefined;
  }
  const { name, fields, batch, timeout_ms: timeoutMs = 10_000, retry } = checked.value;
  if (TAKEN_NAMES.includes(name)) tell('/name', `"${name}" is the name of a store of the collector; choose another.`);
  return {
    name,
    target: readTarget(checked.value, options, tell),
    filter: readFilter(checked.value.filter),
    fields: readMask(fields, tell),
    batch: { records: batch?.records ?? 500, bytes: batch?.bytes ?? 4_194_304 },
    timeoutMs,
    retry: {
      initialMs: retry?.initial_ms ?? 500,
      maxMs: retry?.max_ms ?? 60_000,
      attempts: retry?.attempts ?? 8,
      giveUpAfterMs: retry?.give_up_after_ms ?? 21_600_000,
    },
  };
};

const readTarget = (sink: WrittenSink, options: ReadSinksOptions, tell: Tell): TargetSettings => {
  if (sink.kind === 'kafka') {
    const { kind, topic } = sink;
    if (options.ownTopics.includes(topic))
      tell('/topic', `"${topic}" is a topic that this deployment reads itself; name another.`);
    return { kind, topic };
  }
  const web = readWeb(sink, options, tell);
  switch (sink.kind) {
    case 'http': {
      const { signing_key: key } = sink;
      return { ...web, kind: 'http', signingKey: key && readSecretOf(key, '/signing_key', options, tell) };
    }
    case 'json-rows':
      return { ...web, kind: 'json-rows', table: sink.table };
    case 'bulk-index':
      return { ...web, kind: 'bulk-index', index: sink.index, action: sink.action ?? 'create' };
    case 'otlp':
      return { ...web, kind: 'otlp', resource: { 'service.name': 'decision-service', ...sink.resource } };
  }
};

/** Headers that the connection or the protocol of the sink sets. */
const OWN_HEADERS =
  /^(?:host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept-encoding|proxy-.*|webhook-.*|idempotency-key)$/;

const readWeb = (sink: WrittenWebSink, options: ReadSinksOptions, tell: Tell): WebSettings => {
  const headers = new Map<string, string>();
  for (const [written, value] of Object.entries(sink.headers ?? {})) {
    const header = written.toLowerCase();
    const pointer = `/headers/${written.slice(0, 100)}`;
    if (!/^[!#$%&'*+.^_`|~\w-]{1,200}$/.test(header)) tell(pointer, 'is not a valid name of a header.');
    else if (OWN_HEADERS.test(header)) tell(pointer, 'is set by the sink itself; leave it out.');
    else if (headers.has(header)) tell(pointer, 'is there twice.');
    else headers.set(header, checkedHeader(value, pointer, options, tell));
  }
  return { url: readUrl(sink.url, tell), headers: Object.fromEntries(headers) };
};

const checkedHeader = (value: string | SecretFile, pointer: string, options: ReadSinksOptions, tell: Tell): string => {
  const text = typeof value === 'string' ? value : readSecretOf(value, pointer, options, tell);
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) tell(pointer, 'holds a line break or a character that no header holds.');
  return text;
};

const readSecretOf = ({ file }: SecretFile, pointer: string, { readSecret }: ReadSinksOptions, tell: Tell): string => {
  try {
    const text = readSecret(file);
    if (text === '') tell(pointer, `names the file "${file}", which is empty.`);
    return text;
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException; // any value has members, perhaps undefined
    tell(pointer, `names the file "${file}", which cannot be read (${code}).`);
    return '';
  }
};

/** Placeholder for an invalid address that was already reported; it is never used. */
const NOWHERE = 'http://invalid/';

const readUrl = (text: string, tell: Tell): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    tell('/url', 'is not an address that begins with http:// or https://.');
    return new URL(NOWHERE);
  }
  if (url.username !== '' || url.password !== '')
    tell('/url', 'holds credentials; send them in a header whose value is {"file": "..."}.');
  if (url.hash !== '') tell('/url', 'has a part after #, which is never sent; leave it out.');
  return url;
};

const readFilter = (filter: WrittenSink['filter']): SinkFilter => ({
  assets: filter?.assets?.map((written) => {
    const [kind, slug] = written.split(':');
    return slug === undefined
      ? { kind: undefined, slug: written }
      : { kind: kind === 'flow' ? ('flow' as const) : ('rule' as const), slug };
  }),
  workspaces: filter?.workspaces && new Set(filter.workspaces.map((id) => id.toLowerCase())),
  statuses: filter?.statuses?.map((written) => {
    const [first, last] = [Number(written.replace('xx', '00')), Number(written.replace('xx', '99'))];
    return [first, last] as const;
  }),
  sampleRate: filter?.sample_rate ?? 1,
});

const readMask = (fields: WrittenSink['fields'], tell: Tell): FieldMask => ({
  only: fields?.only?.map((path, index) => readPath(path, `/fields/only/${index}`, tell)),
  without: (fields?.without ?? []).map((path, index) => {
    const pointer = `/fields/without/${index}`;
    const names = readPath(path, pointer, tell);
    if (names.length === 1 && ['id', 'timestamp'].includes(names[0] ?? ''))
      tell(pointer, `is "${names[0]}", which every record contains.`);
    return names;
  }),
});

const readPath = (written: WrittenPath, pointer: string, tell: Tell): FieldPath => {
  const path = typeof written === 'string' ? written.split('.') : written;
  const [field = '', ...below] = path;
  if (path.includes('')) tell(pointer, 'has an empty name between its dots.');
  else if (!recordFields.includes(field))
    tell(
      pointer,
      `begins with "${field.slice(0, 100)}", which is not a field of a record; the fields are ${recordFields.join(', ')}.`,
    );
  else if (below.length > 0 && !areDocuments(field)) tell(pointer, `goes below "${field}", which is not an object.`);
  return path;
};
