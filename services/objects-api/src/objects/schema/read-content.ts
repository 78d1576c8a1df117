import { parseJson } from '@decision/contracts';
import { findUnstorableText, UNSTORABLE_TEXT } from '@decision/service-kit';
import {
  ContentFault,
  contentLimits,
  type ContentReading,
  isJsonObject,
  type JsonObject,
  nestsDeeper,
} from './parsed-content';
import { isJsonSchema } from './is-json-schema';
import { readSample } from './read-sample';
import { readSchema } from './read-schema';

/** Reads the kind and the fields of an object's content. Never throws and never fetches anything. */
export const readContent = (text: string): ContentReading => {
  const parsing = parseJson(text);
  if (!parsing.ok) {
    const { reason, line, column } = parsing.problem;
    return refused('', `The content cannot be read: ${reason} at line ${line}, column ${column}.`);
  }
  if (!isJsonObject(parsing.value)) return refused('', 'The content must be a JSON object, or a JSON Schema.');
  if (nestsDeeper(parsing.value, contentLimits.depth)) {
    return refused('', `The content nests deeper than ${contentLimits.depth} levels.`);
  }
  const unstorable = findUnstorableText(parsing.value, text);
  if (unstorable !== undefined) return refused(unstorable, `The content at ${unstorable} ${UNSTORABLE_TEXT}.`);
  return readObject(parsing.value);
};

const readObject = (content: JsonObject): ContentReading => {
  const schema = isJsonSchema(content);
  try {
    const fields = schema ? readSchema(content) : readSample(content);
    return { ok: true, content: { contentType: schema ? 'json_schema' : 'json_object', fields } };
  } catch (error) {
    if (error instanceof ContentFault) return refused(error.path, error.message);
    throw error;
  }
};

const refused = (path: string, message: string): ContentReading => ({ ok: false, problems: [{ path, message }] });
