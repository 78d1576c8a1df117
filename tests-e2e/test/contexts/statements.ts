/* Statements of contexts-api, recognised by their unique parts. A test that waits for a statement that no longer exists times out. */

/** Statement of the operation path, with an admission or without. */
export const MERGE = /update context_instances i set[^]*version = i\.version \+ 1[^]* and i\.operation_id is null/;
export { WRITE_BACK } from '../../src/histories/faults';
/** Statement of the merge path. */
export const DIRECT_MERGE = /^\s*insert into context_instances as i /;
/** Records on a source how far its readers have been notified. */
export const NOTE_OF_PAGE = /^\s*update context_instances i set reader_pass = /;
/** Records which step of a flow writes an instance, in the same transaction. */
export const RECORD_OF_STEP = /^\s*insert into entity_writes /;
/** Deletes an instance. */
export const DELETION = /^\s*delete from context_instances where context_id = [^]* and operation_id is null/;
