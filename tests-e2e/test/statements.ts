/* Statements of contexts-api, by what only they have. A test that waits for one that does not exist any more times out. */

/** Statement of the operation path, with an admission or without. */
export const MERGE = /update context_instances i set[^]*version = i\.version \+ 1[^]* and i\.operation_id is null/;
export { WRITE_BACK } from '../src/histories/faults';
/** Statement of the merge path. */
export const DIRECT_MERGE = /^\s*insert into context_instances as i /;
/** Notes on a source how far its readers have been told. */
export const NOTE_OF_PAGE = /^\s*update context_instances i set reader_pass = /;
/** Records which step of a flow writes an instance, in the transaction that does. */
export const RECORD_OF_STEP = /^\s*insert into entity_writes /;
/** Takes an instance away. */
export const DELETION = /^\s*delete from context_instances where context_id = [^]* and operation_id is null/;
