import { type TableChanges, type TableViewer, type TableWatch } from './table-watch';

/** A request that names things by placeholders such as `{rule.id}`, in its path, its query or its body. */
export interface MatrixRow {
  /** Below `/api/v1`, with the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The statement of docs/specs/visibility.md that allows different answers for a hidden and an absent thing here. */
  readonly except?: string;
  /** The statement that allows a successful request to change things that its caller does not see. */
  readonly changes?: string;
  /** Status for keys that see the thing. Default: any success status. */
  readonly seen?: number;
  /** The same for a key without groups, if it differs from `seen`. */
  readonly all?: number;
  /** Why keys that see the thing get the same answer as those that do not. Absent: they do not. */
  readonly same?: string;
}

/** Ways to name a thing, by operation id. */
export type MatrixRows = Readonly<Record<string, readonly MatrixRow[]>>;

/** Names of things, by placeholder. */
export type MatrixNames = Readonly<Record<string, string>>;

export interface MatrixAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface MatrixCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

/** A key and its groups; undefined is a key without restriction. */
interface MatrixKey {
  readonly key: string;
  readonly userGroups: readonly string[] | undefined;
}

/** Keys with which every row is requested. */
export interface MatrixKeys {
  /** Sees neither the hidden things nor related ones. */
  readonly none: MatrixKey;
  /** Sees only things related to the hidden ones: the context of a hidden rule, the rule that refers to a hidden value. */
  readonly part: MatrixKey;
  /** Sees all of them through its groups. */
  readonly sees: MatrixKey;
  /** Sees all of them because it has no groups. */
  readonly all: MatrixKey;
}

/** How many requests {@link askRow} makes. */
const REQUESTS_OF_A_ROW = 6;

/** A service whose operations are requested with every row. */
interface Matrix {
  /** Its name in the summary. */
  readonly title: string;
  readonly operations: readonly { readonly id: string; readonly method: string }[];
  readonly rows: MatrixRows;
  /** Called once the tests run. */
  readonly world: () => MatrixWorld;
}

/** Defines the tests of V1 in docs/specs/visibility.md, one for each row, and one that checks that every operation has a row. */
export const describeMatrix = ({ title, operations, rows, world }: Matrix): void => {
  it('V1: every operation has a row', () => {
    expect(findUnmatched(operations, rows)).toEqual([]);
  });

  describe.each(operations.map(({ id, method }) => [id, method] as const))('V1: %s', (id, method) => {
    it.each((rows[id] ?? []).map((row) => [row.path, JSON.stringify(row.body) ?? '', row] as const))(
      'answers a key that does not see a thing as if it did not exist, and one that sees it: %s %s',
      async (_path, _body, row) => {
        expect(await askRow(method, row, world())).toEqual([]);
      },
    );
  });

  afterAll(() => {
    const ways = Object.values(rows).flat().length;
    process.stdout.write(
      `visibility of ${title}: ${operations.length} operations, ${ways} ways to name a thing, ${ways * REQUESTS_OF_A_ROW} requests\n`,
    );
  });
};

export interface MatrixWorld {
  readonly workspaceId: string;
  /** Things that `none` and `part` do not see, and related `seen.` ones, which `part` sees. */
  readonly hidden: MatrixNames;
  /** Appears in every name and content of the hidden things, and nowhere else. */
  readonly marker: string;
  /** Unused names for those of {@link hidden} without the marker, which visible things also contain. */
  readonly absent?: MatrixNames;
  readonly keys: MatrixKeys;
  readonly call: (request: MatrixCall) => Promise<MatrixAnswer>;
  /** Undefined for a service that stores nothing. */
  readonly watch: TableWatch | undefined;
}

/** Operations without a row, and rows without an operation. */
export const findUnmatched = (operations: readonly { readonly id: string }[], rows: MatrixRows): readonly string[] => [
  ...operations.map(({ id }) => id).filter((id) => (rows[id] ?? []).length === 0),
  ...Object.keys(rows).filter((id) => operations.every((operation) => operation.id !== id)),
];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Replaces the marker in unused names; it has the same length, since messages count characters. */
const ABSENT = 'absent';

/** Unused names of the same kinds and lengths. Throws for a name without the marker. */
export const absentNames = (hidden: MatrixNames, marker: string, given: MatrixNames = {}): MatrixNames =>
  Object.fromEntries(
    Object.entries(hidden).map(([placeholder, name], index) => {
      if (placeholder.startsWith('seen.')) return [placeholder, name];
      if (given[placeholder] !== undefined) return [placeholder, given[placeholder]];
      if (new RegExp(`^${UUID.source}$`).test(name))
        return [placeholder, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`];
      const absent = name.toLowerCase().replaceAll(marker, ABSENT);
      if (absent === name.toLowerCase()) throw new TypeError(`${placeholder}: "${name}" has no "${marker}" in it.`);
      return [placeholder, name.replace(new RegExp(marker, 'gi'), ABSENT)];
    }),
  );

/**
 * Requests one row with every key. Keys that do not see the hidden thing must get the same answer as for an absent one, must change nothing
 * that they do not see, and nothing at all if refused; keys that see it must succeed. Returns a sentence for each violation.
 */
export const askRow = async (method: string, row: MatrixRow, world: MatrixWorld): Promise<readonly string[]> => {
  const { keys, hidden, marker } = world;
  const absent = absentNames(hidden, marker, world.absent);
  const blind: string[] = [];
  const faults: string[] = [];
  for (const who of ['none', 'part'] as const) {
    const forHidden = await ask({ method, row, world, names: hidden, key: keys[who] });
    const forNone = await ask({ method, row, world, names: absent, key: keys[who] });
    blind.push(forHidden.text);
    const isExcepted = row.except !== undefined;
    const wrong = [
      !isExcepted && forHidden.text.toLowerCase().includes(marker) && `something hidden appears in ${forHidden.text}`,
      !isExcepted && forHidden.text !== forNone.text && `a hidden thing: ${forHidden.text}; none: ${forNone.text}`,
      forHidden.status >= 400 && forHidden.changed.length > 0 && `refused, and changed ${forHidden.changed.join()}`,
      row.changes === undefined && forHidden.hidden.length > 0 && `changed what is hidden: ${forHidden.hidden.join()}`,
    ];
    faults.push(...wrong.filter((fault) => fault !== false).map((fault) => `${who}: ${fault}`));
  }
  for (const who of ['sees', 'all'] as const) {
    const { status, text } = await ask({ method, row, world, names: hidden, key: keys[who] });
    const wanted = (who === 'all' ? row.all : undefined) ?? row.seen;
    const isAsWanted = wanted === undefined ? status >= 200 && status < 300 : status === wanted;
    if (!isAsWanted) faults.push(`${who}: ${wanted ?? 'success'} is expected of ${text}`);
    if (row.same === undefined && blind[1] === text) faults.push(`${who}: is answered as one that does not see it`);
  }
  return faults;
};

interface Asked extends TableChanges {
  readonly status: number;
  /** Status and body, without the names in the request and parts that differ between any two requests. */
  readonly text: string;
}

interface Question {
  readonly method: string;
  readonly row: MatrixRow;
  readonly world: MatrixWorld;
  readonly names: MatrixNames;
  readonly key: MatrixKey;
}

const ask = async ({ method, row, world, names, key }: Question): Promise<Asked> => {
  const path = fill(row.path, names, encodeURIComponent);
  const body: unknown =
    row.body === undefined
      ? undefined
      : JSON.parse(fill(JSON.stringify(row.body), names, (name) => JSON.stringify(name).slice(1, -1)));
  const { status, body: answer } = await world.call({ method, path, body, key: key.key });
  const given = JSON.stringify(row);
  const named = Object.entries(names).filter(([placeholder]) => given.includes(`{${placeholder}}`));
  const viewer: TableViewer = { workspaceId: world.workspaceId, userGroups: key.userGroups };
  const changes = (await world.watch?.findChanges(viewer)) ?? { changed: [], hidden: [] };
  return { status, text: withoutNames(JSON.stringify([status, answer]), named, world.watch?.text ?? ''), ...changes };
};

const fill = (text: string, names: MatrixNames, encode: (name: string) => string): string =>
  text.replace(/\{([a-z]+\.[a-z]+)\}/g, (placeholder, name: string) => {
    const given = names[name];
    return given === undefined ? placeholder : encode(given);
  });

/** Parts that differ between any two requests. */
const OF_REQUEST =
  /"(request_id|trace_id|started_at|created_at|updated_at|createdAt|updatedAt|joined_at|expires_at|published_at|publishedAt|live_at|last_used_at|last_session_at|api_key|selector|link|duration|total_ms|ingest_ms)":("[^"]*"|[\d.]+)/g;

/** Ids that appear in no row are new ones from the request. */
const withoutNames = (text: string, names: readonly (readonly [string, string])[], rows: string): string =>
  [...names]
    .sort(([, a], [, b]) => b.length - a.length)
    .reduce((rest, [placeholder, name]) => rest.replaceAll(name, `{${placeholder}}`), text)
    .replace(OF_REQUEST, '"$1":0')
    .replace(UUID, (id) => (rows.includes(id) ? id : '{made}'));
