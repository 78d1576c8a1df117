/** Fields with JSON of any shape. */
const documents = ['request', 'response', 'path_trace'] as const;
export type DocumentField = (typeof documents)[number];

/** Fields of a record sent to sinks, in order. */
export const recordFields: readonly string[] = [
  ...['id', 'timestamp', 'decision_id', 'item', 'of_list', 'workspace_id', 'type', 'asset_id', 'name', 'selector'],
  ...[
    'version_id',
    'context',
    'instance',
    'flow',
    'key_id',
    'request_id',
    'trace_id',
    'execution_id',
    'status',
    'error',
  ],
  ...['duration_ms', 'matched', 'stands_for', 'worker', 'abbreviated', ...documents],
];

/** Whether a field contains JSON of any shape. */
export const areDocuments = (field: string): field is DocumentField => documents.some((known) => known === field);
