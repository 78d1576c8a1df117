/**
 * Limits a table of instances to the ids of the statement, beside a join with them. Of a table without statistics the database believes that a context
 * has hardly any rows, and would read all of them; this lets it look up each id whatever it believes.
 */
export const among = (table: string): string => `${table}.instance_id = any (cast(:ids as text[]))`;
