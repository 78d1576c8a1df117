/** Limits a table of instances to the ids of the statement, beside a join with them, so that the index can be asked for those alone. */
export const among = (table: string): string => `${table}.instance_id = any (cast(:ids as text[]))`;
