import { type FunctionEntry, formulaFunctions } from '../src';

const GROUPS = ['logic', 'number', 'string', 'list', 'date'] as const;

/** A parameter list: optional ones in brackets, dots after one that may be repeated. */
const signatureOf = ({ name, parameters, variadic }: FunctionEntry): string => {
  const spelled = parameters.map(({ name: parameter, optional }, index) => {
    const repeated = variadic && index === parameters.length - 1 ? `${parameter}...` : parameter;
    return optional ? `[${repeated}]` : repeated;
  });
  return `${name}(${spelled.join(', ')})`;
};

const rowOf = (entry: FunctionEntry): string => {
  const cells = [
    `\`${signatureOf(entry)}\``,
    entry.meaning,
    `\`${entry.example}\` is \`${JSON.stringify(entry.result)}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
};

/** The catalogue as a table of docs/specs/formulas.md. */
export const functionTable = (): string =>
  GROUPS.map((group) => {
    const rows = formulaFunctions.filter((entry) => entry.group === group).map(rowOf);
    return [`### ${group}`, '', '| function | answers | example |', '|---|---|---|', ...rows].join('\n');
  }).join('\n\n');
