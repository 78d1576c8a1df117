import { contexts } from './contexts-importer';
import { type Importer, isObject } from './importer';

/** The body of `PUT /objects`, whose `content` may be written as JSON rather than as text that holds JSON. */
const objects: Importer = {
  folder: 'objects',
  faultOf: ({ name, content }) => {
    if (typeof name !== 'string') return 'lacks the "name" of the object';
    return isObject(content) || typeof content === 'string' ? undefined : 'lacks the "content" of the object';
  },
  write: async (client, { content, ...rest }) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await client.send('PUT', '/objects', { ...rest, content: text });
    return `object ${JSON.stringify(rest['name'])}`;
  },
};

/** The body of `POST /values`. */
const values: Importer = {
  folder: 'values',
  faultOf: ({ values: given }) => (isObject(given) ? undefined : 'lacks its "values"'),
  write: async (client, content) => {
    const written = await client.send('POST', '/values', content);
    return `${countOf(written)} values`;
  },
};

const countOf = (written: unknown): number =>
  Array.isArray(written) ? written.length : (written as { processed: number }).processed; // a list, or a summary of many

/** The body of `POST /admin/rules/import`. It is published, each time as a new version, unless it says `"_publish": false`. */
const rules: Importer = {
  folder: 'rules',
  faultOf: ({ rule }) => {
    if (!isObject(rule)) return 'lacks its "rule"';
    return typeof rule['id'] === 'string' ? undefined : 'lacks the "id" of the rule, by which it is found again';
  },
  write: async (client, { rule }) => {
    const { slug } = (await client.send('POST', '/admin/rules/import', {
      rule: { _publish: true, ...(rule as object) }, // as faultOf found it
    })) as { slug: string }; // what the import answers
    return `rule ${slug}`;
  },
};

/** Every folder that a workspace can have, in the order in which its assets need each other. */
export const importers: readonly Importer[] = [objects, values, contexts, rules];
