import { operatorCatalogue, type OperatorEntry } from '../../src';

const TYPES = ['number', 'string', 'boolean', 'date', 'list'] as const;

/** The page of all operators, as the catalogue has them. */
export const operatorsPage = (): string => `# Operators

Every operator of a condition, by the type of its field. Names are exact. The examples hold at 2026-05-13T12:00:00Z, a Wednesday; what missing
values, other types, dates and texts mean is said in \`docs/specs/engine.md\`.

This page is made from the catalogue of the engine, which \`GET /api/v1/admin/operators\` answers too; to write it again, run
\`WRITE_DOCS=1 npx jest operators-page\` in \`packages/engine\`.
${TYPES.map(section).join('')}`;

const section = (type: (typeof TYPES)[number]): string => `
## ${type}

| operator | arguments | meaning | example | matches | does not match |
| -------- | --------- | ------- | ------- | ------- | -------------- |
${operatorCatalogue
  .filter((entry) => entry.type === type)
  .map(row)
  .join('\n')}
`;

const row = ({ op, args, meaning, example }: OperatorEntry): string =>
  `| ${[
    code(op),
    args.map(({ name, type }) => `${name}: ${type}`).join(', '),
    meaning,
    example.args.map(json).join(', '),
    json(example.matches),
    op === 'any' ? '' : json(example.misses),
  ].join(' | ')} |`;

const json = (value: unknown): string => code(JSON.stringify(value));

/** Code in a cell; a pipe would end the cell. */
const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
