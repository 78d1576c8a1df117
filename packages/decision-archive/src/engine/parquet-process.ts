import { DuckDBInstance } from '@duckdb/node-api';
import { COLUMNS } from '../rows';

/** What the process is asked: rows, one line of JSON each, that become an object. Paths are below the folder it was started with. */
export interface ParquetRequest {
  readonly rows: string;
  readonly object: string;
  /** Bytes of the longest line. */
  readonly longestLine: number;
}

/** `error`: why it failed; absent where it did not. */
export interface ParquetAnswer {
  readonly error?: string;
}

/** Rows of a row group. */
const ROW_GROUP = 20_480;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const start = async (folder: string, memoryBytes: string) => {
  const instance = await DuckDBInstance.create(':memory:', {
    ...{ threads: '1', memory_limit: `${memoryBytes}B`, temp_directory: `${folder}/spill` },
    ...{ max_temp_directory_size: `${memoryBytes}B`, autoinstall_known_extensions: 'false' },
  });
  const connection = await instance.connect();
  for (const sql of [
    "SET TimeZone = 'UTC'",
    'SET preserve_insertion_order = true',
    `SET allowed_directories = [${literal(folder)}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ])
    await connection.run(sql);
  return connection;
};

const columns = COLUMNS.map(([name, type]) => `"${name}": '${type}'`).join(', ');

const write = async (
  connection: Awaited<ReturnType<typeof start>>,
  { rows, object, longestLine }: ParquetRequest,
): Promise<void> => {
  await connection.run(
    `COPY (SELECT * FROM read_json(${literal(rows)}, format = 'newline_delimited', columns = {${columns}}, maximum_object_size = ${Math.max(1_048_576, longestLine + 1_024)})) ` +
      `TO ${literal(object)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`,
  );
};

const [folder = '', memoryBytes = ''] = process.argv.slice(2);
const starting = start(folder, memoryBytes);
process.on('message', (request: ParquetRequest) => {
  const answer = (sent: ParquetAnswer): void => void process.send?.(sent);
  starting
    .then((connection) => write(connection, request))
    .then(
      () => answer({}),
      (error: unknown) => answer({ error: error instanceof Error ? error.message : String(error) }),
    );
});
// Its parent has ended.
process.on('disconnect', () => process.exit(0));
