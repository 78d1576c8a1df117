import { type Example } from './fleet/seed-examples';

/** The example that the `curl` uses. */
const SHOWN = 'shipping-price';

/** The message that is printed once everything runs. */
export const welcome = (baseUrl: string, apiKey: string, examples: readonly Example[]): string => {
  const shown = examples.find(({ rule }) => rule.slug === SHOWN) ?? examples[0];
  return [
    '',
    `The decision service is ready at ${baseUrl}`,
    `API key: ${apiKey}`,
    '',
    'Try it:',
    ...(shown === undefined ? [] : curlLines(baseUrl, apiKey, shown)),
    '',
    'From nothing to a rule in production: docs/tutorial.md',
    `Every call, to read and to try: ${baseUrl}/api/docs (document: ${baseUrl}/api/openapi.json)`,
    '',
    'Stop it with Ctrl-C. Addresses and the key are also in .local/connection.json, logs in .local/logs/.',
    '',
  ].join('\n');
};

const curlLines = (baseUrl: string, apiKey: string, { rule }: Example): string[] => [
  `  curl -s ${baseUrl}/api/v1/solve/${rule.slug ?? ''} \\`,
  `    -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\`,
  `    -d '${JSON.stringify(rule.sampleRequest)}'`,
];
