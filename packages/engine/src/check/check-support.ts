import { type RuleTable } from '@decision/contracts';
import { type RuleProblem } from '../rule-problem';

/**
 * What a document can say and this engine does not execute. It is refused rather than ignored: an answer that leaves out a part
 * of the rule would be wrong.
 */
export const checkSupport = (table: RuleTable): RuleProblem[] => [
  ...groupProblems(table),
  ...table.responseSchema.flatMap(({ key, type, defaultComputedValue }, index) => {
    const path = `/responseSchema/${index}`;
    if (type === 'function')
      return [
        unsupported(path, `The output "${key}" is a formula, which this version does not execute.`, { column: key }),
      ];
    if (defaultComputedValue === undefined || defaultComputedValue === null || defaultComputedValue === '') return [];
    return [
      unsupported(
        `${path}/defaultComputedValue`,
        `The output "${key}" has a computed default, which this version does not execute.`,
        { column: key },
      ),
    ];
  }),
  ...table.conditions.flatMap((row, index) => referenceProblems(row, index)),
];

const groupProblems = ({ groups, conditions }: RuleTable): RuleProblem[] => [
  ...Object.keys(groups ?? {}).map((id) =>
    unsupported(`/groups/${id}`, `The rule has the group "${id}"; groups are not executed by this version.`, {}),
  ),
  ...conditions.flatMap(({ settings }, row) =>
    settings?.groupId === undefined || settings.groupId === null || settings.groupId === ''
      ? []
      : [
          unsupported(
            `/conditions/${row}/settings/groupId`,
            `Row ${row} belongs to the group "${settings.groupId}"; groups are not executed by this version.`,
            { row },
          ),
        ],
  ),
];

/** Values stand in cells as `{"$ref": name}` or `{"$rb": "globalValue", ...}`. */
const referenceProblems = (row: RuleTable['conditions'][number], index: number): RuleProblem[] => {
  const arguments_ = Object.entries(row.request ?? {}).map(([key, { args = [] }]) => ({
    side: 'request',
    key,
    values: args,
  }));
  const outputs = Object.entries(row.response ?? {}).map(([key, { value }]) => ({
    side: 'response',
    key,
    values: [value],
  }));
  return [...arguments_, ...outputs]
    .filter(({ values }) => values.some(isReference))
    .map(({ side, key }) =>
      unsupported(
        `/conditions/${index}/${side}/${key}`,
        `Row ${index}, column "${key}" refers to a value, which this version cannot resolve.`,
        { row: index, column: key },
      ),
    );
};

const isReference = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$rb'));

const unsupported = (
  path: string,
  message: string,
  place: { readonly row?: number; readonly column?: string },
): RuleProblem => ({
  code: 'unsupported',
  message,
  path,
  ...place,
});
