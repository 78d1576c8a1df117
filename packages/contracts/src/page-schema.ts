import { type TSchema, Type } from '@sinclair/typebox';
import { EARLIEST_TIME, LATEST_TIME } from './validator';

/** Query parameters of every paged list. */
export const pageQueryFields = {
  limit: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,9}$', description: '1 to 1000, default 100.', examples: ['50'] }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' })),
};

/** A time in a query; its bounds are those of every time in a request, see `compileValidator`. */
export const timeParameter = (description: string, example: string) =>
  Type.String({
    format: 'date-time',
    formatMinimum: EARLIEST_TIME,
    formatMaximum: LATEST_TIME,
    maxLength: 35,
    description: `${description} ISO 8601 with an offset below 16 hours, from year 1 to 9999.`,
    examples: [example],
  });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const timestamp = Type.String({ format: 'date-time' });
export const nextCursor = nullable(Type.String());
/** A name chosen by people: some text, no control characters. */
export const givenName = (maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
export const groupNames = Type.Array(givenName(), { maxItems: 100, uniqueItems: true });
