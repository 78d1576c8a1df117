import { type Static, Type } from '@sinclair/typebox';

/** Maximum number of paths in one list, and of characters in one path. */
const MOST_PATHS = 100;
const LONGEST_PATH = 500;

const path = (pattern: string, description: string) =>
  Type.Array(Type.String({ pattern, maxLength: LONGEST_PATH }), { maxItems: MOST_PATHS, description });

const part = (what: string) =>
  Type.Optional(
    Type.Unsafe<'full' | 'none' | string[]>({
      oneOf: [
        { type: 'string', enum: ['full', 'none'], description: 'All of it, which is the default, or nothing.' },
        path('^[^.]+(\\.[^.]+)*$', `Paths that are logged, such as \`order.total\`; nothing else of the ${what} is.`),
      ],
      description: `What of the ${what} is logged: \`full\`, \`none\`, or a list of paths.`,
    }),
  );

/** The parts of a rule's or flow's decisions that are logged. */
export const LoggingSettings = Type.Object(
  {
    request: part('request'),
    response: part('response'),
    delivery: Type.Optional(
      Type.Unsafe<'buffered' | 'required'>({
        type: 'string',
        enum: ['buffered', 'required'],
        description:
          '`required`: a decision is answered only after the message broker has its record, and else `decision_not_recorded`. Default `buffered`: it is answered at once.',
      }),
    ),
    mask: Type.Optional(
      path(
        '^(request|response)(\\.[^.]+)+$',
        'Paths, such as `request.customer.iban`, whose values are logged as a keyed hash, so that equal values can be recognised; or not at all where the operator has set no key.',
      ),
    ),
  },
  {
    $id: 'LoggingSettings',
    additionalProperties: false,
    description:
      'Which parts of each decision are logged, and whether its answer waits for that. Names in paths are joined by dots; a list in a path means each of its items.',
  },
);
export type LoggingSettings = Static<typeof LoggingSettings>;
