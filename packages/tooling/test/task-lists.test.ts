import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './source-tree';

/** A section of docs/development.md that says which files a task takes, by the example of something that exists. */
interface Task {
  readonly title: string;
  /** Words that only the example uses. */
  readonly words: readonly string[];
  readonly listed: readonly string[];
}

const PAGE = 'docs/development.md';
const EXAMPLE = /^Example: (`[^`]+`(?:,? (?:and )?`[^`]+`)*)/m;
const LISTED_FILE = /^- `([^`]+)`/gm;

const codeSpans = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

const tasks: readonly Task[] = readFileSync(join(repositoryRoot, PAGE), 'utf8')
  .split(/^## /m)
  .flatMap((section) => {
    const [, example] = EXAMPLE.exec(section) ?? [];
    if (example === undefined) return [];
    const listed = [...section.matchAll(LISTED_FILE)].map(([, path = '']) => path);
    return [{ title: section.slice(0, section.indexOf('\n')), words: codeSpans(example), listed }];
  });

const isTest = (path: string): boolean => /\.test\.ts$|\/(test|testing|cases|benchmarks)\//.test(path);
const isBuilt = (name: string): boolean => ['node_modules', 'dist', 'test-results', '.turbo'].includes(name);
/** Pages that somebody edits when something is added; decisions and measurements are history. */
const isEdited = (path: string): boolean => path !== PAGE && !/^docs\/(adr|performance)\b/.test(path);

const filesBelow = (folder: string): string[] =>
  readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .filter(({ name }) => !isBuilt(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });

const withoutWrittenParts = (text: string): string =>
  text.replace(/<!-- written: (.+?) -->[\s\S]*?<!-- end of \1 -->/g, '');

const files = ['packages', 'services', 'docs']
  .flatMap(filesBelow)
  .filter((path) => /\.(ts|js|mjs|json|md)$/.test(path) && !isTest(path) && isEdited(path))
  .map((path) => ({ path, text: withoutWrittenParts(readFileSync(join(repositoryRoot, path), 'utf8')) }));

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const filesThatMention = (words: readonly string[]): string[] => {
  const anyOfThem = new RegExp(`(?<![\\w-])(?:${words.map(escaped).join('|')})(?![\\w-])`);
  return files.filter(({ text }) => anyOfThem.test(text)).map(({ path }) => path);
};

describe('the tasks of docs/development.md', () => {
  it('cover what is added most often', () => {
    expect(tasks.map(({ title }) => title)).toEqual([
      'Add an operator',
      'Add a field of an API key',
      'Add a field of a rule or flow',
      'Add a field of a value',
      'Add a field of an object',
      'Add a field of a release',
      'Add a setting of a context',
      'Add an endpoint',
      'Add an audit action',
      'Add an event or a message',
      'Add a metric',
      'Add a setting of a service',
      'Add a migration',
      'Add a topic',
    ]);
  });

  it.each(tasks)('$title: takes the files that the page lists', ({ title, words, listed }) => {
    const found = filesThatMention(words);
    const wrong = [
      ...found.filter((path) => !listed.includes(path)).map((path) => `not listed, and mentions it: ${path}`),
      ...listed.filter((path) => !found.includes(path)).map((path) => `listed, and does not mention it: ${path}`),
    ];
    const advice = `Make the task take fewer files, or edit the list under "## ${title}" in ${PAGE} (example: ${words.join(', ')}).`;
    expect(wrong.length === 0 ? [] : [...wrong, advice]).toEqual([]);
  });
});
