import { type Static, Type } from '@sinclair/typebox';

/** The error body of every service. Additional details depend on the code. */
export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'A sentence that a person can act on.' }),
    code: Type.String({ description: 'A stable code for programs.' }),
    request_id: Type.String({ description: 'Leads to the request in the logs.' }),
  },
  {
    $id: 'ErrorBody',
    description: 'What every failed request is answered with.',
    additionalProperties: true,
    examples: [
      {
        error: 'No rule with the slug "shiping-price" is visible to this key.',
        code: 'rule_not_found',
        request_id: '0b0e6a4a-0c5e-4f5f-9d5b-3f0f5f4f3c11',
      },
    ],
  },
);
export type ErrorBody = Static<typeof ErrorBody>;
