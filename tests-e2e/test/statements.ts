/* Statements of contexts-api, by what only they have. Where none is found any more, whoever waits for it waits in vain. */

/** Of the operation path: merges, and mostly admits. */
export const MERGE = /^\s*update context_instances i set[^]*fence = i\.fence \+ case/;
export const WRITE_BACK = /^\s*update context_instances i set[^]*version = i\.version \+ 1[^]*operation_id = null/;
/** Of the merge path. */
export const DIRECT_MERGE = /^\s*insert into context_instances as i /;
/** Notes on a source how far its readers have been told. */
export const NOTE_OF_PAGE = /^\s*update context_instances i set reader_pass = /;
