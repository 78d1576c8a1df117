import { matches, type Search, type SearchedRecord } from '@decision/decision-logs';
import {
  BOOLEAN,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
  DuckDBScalarFunction,
  type DuckDBVector,
  INTEGER,
  VARCHAR,
} from '@duckdb/node-api';
import { COLUMNS, literal, pathsOf, rowsOf } from '../rows';
import { type Columns, type EngineAnswer, type EngineOptions, type EngineRequest } from './engine';

/** Rows of a row group. */
const ROW_GROUP = 20_480;

/** Parts of the current question's search; the SQL refers to them by position. */
let nodes: readonly Search[] = [];

const EMPTY: SearchedRecord = {
  ...{ name: '', type: '', selector: '', error: null, trace_id: null, execution_id: null, request_id: '', key_id: '' },
  ...{ context: null, instance: null, flow: null, status: 0, duration: 0, request: null, response: null },
};

/** Whether a request or response fulfils a part of the search, if SQL cannot say so or is slower. */
const holds = (node: number, document: string): boolean => {
  const search = nodes[node];
  if (search === undefined) return false;
  const value: unknown = JSON.parse(document);
  // A comparison reads the document that it names, and a word reads both.
  return matches(search, { ...EMPTY, request: value, response: search.kind === 'word' ? null : value });
};

const holdsFunction = DuckDBScalarFunction.create({
  name: 'holds',
  parameterTypes: [INTEGER, VARCHAR],
  returnType: BOOLEAN,
  mainFunction: (_, input: DuckDBDataChunk, output: DuckDBVector) => {
    const [numbers, documents] = [input.getColumnVector(0), input.getColumnVector(1)];
    for (let row = 0; row < input.rowCount; row += 1) {
      const [node, document] = [numbers.getItem(row), documents.getItem(row)];
      output.setItem(row, typeof node === 'number' && typeof document === 'string' && holds(node, document));
    }
    output.flush();
  },
});

const start = async ({
  folder,
  readable,
  memoryBytes,
  spillBytes,
  threads,
  groupBytes,
}: EngineOptions): Promise<DuckDBConnection> => {
  const instance = await DuckDBInstance.create(':memory:', {
    ...{ threads: String(threads), memory_limit: `${memoryBytes}B`, temp_directory: `${folder}/spill` },
    ...{ max_temp_directory_size: `${spillBytes}B`, autoinstall_known_extensions: 'false' },
  });
  const connection = await instance.connect();
  connection.registerScalarFunction(holdsFunction);
  for (const sql of [
    "SET TimeZone = 'UTC'",
    // Row groups can be bounded by bytes only this way.
    `SET preserve_insertion_order = ${groupBytes === undefined}`,
    // Otherwise holes in files that are filled later would be cached.
    'SET enable_external_file_cache = false',
    `SET allowed_directories = [${[folder, ...readable].map(literal).join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ])
    await connection.run(sql);
  return connection;
};

const readingOf = (columns: Columns): string => columns.map(([name, type]) => `"${name}": '${type}'`).join(', ');

const options = JSON.parse(process.argv[2] ?? '{}') as EngineOptions; // written by its parent

const GROUP = options.groupBytes === undefined ? '' : `, ROW_GROUP_SIZE_BYTES ${options.groupBytes}`;
const PARQUET = `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}${GROUP}, WRITE_BLOOM_FILTER false)`;

/** Keeps the writer's order of objects, and each row once. */
const merge = async (
  connection: DuckDBConnection,
  { files, object, without }: Extract<EngineRequest, { readonly kind: 'merge' }>,
): Promise<EngineAnswer> => {
  const names = COLUMNS.map(([name]) => name).join(', ');
  const reader = await connection.runAndReadAll(
    `COPY (
      SELECT ${names} FROM ${rowsOf(files)}
      WHERE decision_id NOT IN (SELECT unnest(from_json($1::JSON, '["VARCHAR"]')))
      QUALIFY row_number() OVER (PARTITION BY decision_id, item, message_id) = 1
      ORDER BY name, decided_at, message_id, item
    ) TO ${literal(object)} ${PARQUET}`,
    [JSON.stringify(without)],
  );
  const [count] = reader.getRowObjectsJson();
  return { rows: [{ rows: Object.values(count ?? {})[0] }] };
};

const answer = async (connection: DuckDBConnection, request: EngineRequest): Promise<EngineAnswer> => {
  if (request.kind === 'ask') {
    nodes = request.nodes;
    const reader = await connection.runAndReadAll(request.sql, [...request.parameters]);
    return { rows: reader.getRowObjectsJson() };
  }
  if (request.kind === 'merge') return merge(connection, request);
  if (request.kind === 'join') {
    await connection.run(
      `COPY (SELECT * FROM read_parquet([${pathsOf(request.files)}])) TO ${literal(request.object)} ${PARQUET}`,
    );
    return { rows: [] };
  }
  const { columns, rows, object, longestLine } = request;
  await connection.run(
    `COPY (SELECT * FROM read_json(${literal(rows)}, format = 'newline_delimited', columns = {${readingOf(columns)}}, maximum_object_size = ${Math.max(1_048_576, longestLine + 1_024)})) ` +
      `TO ${literal(object)} ${PARQUET}`,
  );
  return { rows: [] };
};

const starting = start(options);
let hasFailed = false;
starting.catch(() => (hasFailed = true));
process.on('message', (request: EngineRequest) => {
  starting
    .then((connection) => answer(connection, request))
    .catch((error: unknown): EngineAnswer => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((answered) =>
      // A process that could not start never will: the next request starts another.
      process.send?.(answered, () => {
        if (hasFailed) process.exit(1);
      }),
    )
    // Its parent has ended.
    .catch(() => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
