import { type TableChanges, type TableViewer, type TableWatch } from './table-watch';

/** A request that names things by placeholders such as `{rule.id}`, in its path, its query or its body. */
export interface MatrixRow {
  /** Below `/api/v1`, with the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The statement of docs/specs/visibility.md by which a hidden thing and none may be answered differently here. */
  readonly except?: string;
  /** The statement by which a request that succeeds may change what its caller does not see. */
  readonly changes?: string;
  /** Status for keys that see the thing. Default: any status of success. */
  readonly seen?: number;
  /** The same for a key without groups, where it differs from `seen`. */
  readonly all?: number;
  /** Why keys that see the thing are answered as those that do not. Default: they are not. */
  readonly same?: string;
}

/** Ways to name a thing, by the id of the operation. */
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
  /** Sees neither the hidden things nor those around them. */
  readonly none: MatrixKey;
  /** Sees the things around the hidden ones alone: the context of a hidden rule, the rule that refers to a hidden value. */
  readonly part: MatrixKey;
  /** Sees all of them by its groups. */
  readonly sees: MatrixKey;
  /** Sees all of them since it has no groups. */
  readonly all: MatrixKey;
}

/** How many requests {@link askRow} makes. */
const REQUESTS_OF_A_ROW = 6;

/** A service whose operations are asked with every row. */
interface Matrix {
  /** Its name in the summary. */
  readonly title: string;
  readonly operations: readonly { readonly id: string; readonly method: string }[];
  readonly rows: MatrixRows;
  /** Is asked for once the tests run. */
  readonly world: () => MatrixWorld;
}

/** Defines the tests of V1 in docs/specs/visibility.md, one for each row, and one that every operation has a row. */
export const describeMatrix = ({ title, operations, rows, world }: Matrix): void => {
  it('V1: every operation has a row', () => {
    expect(findUnmatched(operations, rows)).toEqual([]);
  });

  describe.each(operations.map(({ id, method }) => [id, method] as const))('V1: %s', (id, method) => {
    it.each((rows[id] ?? []).map((row) => [row.path, JSON.stringify(row.body) ?? '', row] as const))(
      'answers a key that does not see a thing as if there were none, and one that sees it: %s %s',
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
  /** Things that `none` and `part` do not see, and `seen.` ones around them, which `part` sees. */
  readonly hidden: MatrixNames;
  /** Stands in every name and content of the hidden things, and in nothing else. */
  readonly marker: string;
  /** Names that nothing has, for those of {@link hidden} in which the marker does not stand, since visible things hold them too. */
  readonly absent?: MatrixNames;
  readonly keys: MatrixKeys;
  readonly call: (request: MatrixCall) => Promise<MatrixAnswer>;
  /** Undefined for a service that stores nothing. */
  readonly watch: TableWatch | undefined;
}

/** Operations without a way to name a thing, and ways of operations that there are none of. */
export const findUnmatched = (operations: readonly { readonly id: string }[], rows: MatrixRows): readonly string[] => [
  ...operations.map(({ id }) => id).filter((id) => (rows[id] ?? []).length === 0),
  ...Object.keys(rows).filter((id) => operations.every((operation) => operation.id !== id)),
];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Takes the place of the marker in names that nothing has; as long as the marker, since messages count characters. */
const ABSENT = 'absent';

/** Names of the same kinds and lengths that nothing has. Throws for a name in which the marker does not stand. */
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
 * Asks one row with every key: those that do not see the hidden thing are answered as for none, change nothing that they do not see, and nothing at all where they are refused;
 * those that see it succeed. Returns a sentence for each violation.
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
  /** Status and body, without the names that the request gave and what differs between any two requests. */
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

/** Ids that stand in no row are those that the request made. */
const withoutNames = (text: string, names: readonly (readonly [string, string])[], rows: string): string =>
  [...names]
    .sort(([, a], [, b]) => b.length - a.length)
    .reduce((rest, [placeholder, name]) => rest.replaceAll(name, `{${placeholder}}`), text)
    .replace(OF_REQUEST, '"$1":0')
    .replace(UUID, (id) => (rows.includes(id) ? id : '{made}'));
