import {
  OBJECT_CONTENT_MAX_LENGTH,
  OBJECT_NAME_MAX_LENGTH,
  type ObjectRecord,
  type ParsedField,
  ServiceError,
  type UpsertObjectRequest,
} from '@decision/contracts';
import { UNNAMEABLE } from '../values/read-values';
import { managedValuesOf, type WantedValue } from './managed-values';
import { objectInvalid, toParsedField } from './object-answers';
import { type FieldRename } from './plan-values';
import { readContent } from './schema/read-content';

/** Content and everything derived from it. */
export interface ReadObject {
  readonly content: string;
  readonly contentType: ObjectRecord['contentType'];
  readonly parsedFields: readonly ParsedField[];
  readonly wanted: readonly WantedValue[];
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Reads the content of an object. Throws `object_invalid` with every fault, at most 100, or `payload_too_large`. */
export const readObject = (content: string): ReadObject => {
  if (content.length > OBJECT_CONTENT_MAX_LENGTH) {
    throw new ServiceError(
      'payload_too_large',
      `The content has ${content.length} characters; ${OBJECT_CONTENT_MAX_LENGTH} are the most.`,
      { limit_bytes: OBJECT_CONTENT_MAX_LENGTH },
    );
  }
  if (LONE_SURROGATE.test(content)) {
    throw objectInvalid([{ path: '', message: 'The content holds half of a surrogate pair, which cannot be stored.' }]);
  }
  const reading = readContent(content);
  if (!reading.ok) throw objectInvalid(reading.problems);
  const { contentType, fields } = reading.content;
  const { wanted, problems } = managedValuesOf(fields);
  if (problems.length > 0) throw objectInvalid(problems);
  return { content, contentType, parsedFields: fields.map(toParsedField), wanted };
};

/** The name as it is stored: NFC. Throws `invalid_request` for a name that cannot be displayed. */
export const readObjectName = (name: string): string => {
  const composed = name.normalize('NFC');
  if (!UNNAMEABLE.test(name) && composed.trim() !== '' && composed.length <= OBJECT_NAME_MAX_LENGTH) return composed;
  const message = `must be text of 1 to ${OBJECT_NAME_MAX_LENGTH} characters, none of them a control character`;
  throw new ServiceError('invalid_request', `The name ${message}.`, { problems: [{ path: '/name', message }] });
};

/** The rename that comes with new content. Throws `object_invalid` if the content contradicts it. */
export const readRename = (
  { field_rename: given }: Pick<UpsertObjectRequest, 'field_rename'>,
  { parsedFields }: ReadObject,
): FieldRename | undefined => {
  if (given === undefined) return undefined;
  const [from, to] = 'from' in given ? [given.from, given.to] : [given.from_key, given.to_key];
  const rename = { from: from.normalize('NFC'), to: to.normalize('NFC') };
  const keys = new Set(parsedFields.map(({ key }) => key.normalize('NFC')));
  if (keys.has(rename.from)) {
    throw objectInvalid([
      { path: '', message: `"field_rename" renames "${rename.from}", which the content still has.` },
    ]);
  }
  if (keys.has(rename.to)) return rename;
  throw objectInvalid([{ path: '', message: `"field_rename" renames to "${rename.to}", which the content lacks.` }]);
};
