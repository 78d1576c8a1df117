import { operatorCatalogue, type OperatorEntry } from '../../src';

const TYPES = ['number', 'string', 'boolean', 'date', 'list'] as const;

/** A table of the operators for each type, from the catalogue. */
export const operatorsTables = (): string => TYPES.map(section).join('\n\n');

const section = (type: (typeof TYPES)[number]): string => `## ${type}

| operator | arguments | meaning | example | matches | does not match |
| -------- | --------- | ------- | ------- | ------- | -------------- |
${operatorCatalogue
  .filter((entry) => entry.type === type)
  .map(row)
  .join('\n')}`;

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
