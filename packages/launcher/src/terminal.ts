import { type Example } from './workspace/import-workspace';

/** Prints lines at the terminal, each with the time since the start. */
export interface Terminal {
  say(line: string): void;
  /** Prints a line without the time. */
  plain(line: string): void;
}

export const createTerminal = (write: (text: string) => void, now: () => number): Terminal => {
  const startedAt = now();
  return {
    say: (line) => write(`${((now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}\n`),
    plain: (line) => write(`${line}\n`),
  };
};

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

/** How people, rather than programs with the key, reach the stack. */
export const describePeople = ({
  baseUrl,
  admin,
  proxyUrl,
}: {
  readonly baseUrl: string;
  readonly admin: { readonly email: string; readonly password: string } | undefined;
  readonly proxyUrl: string | undefined;
}): string => {
  if (admin !== undefined)
    return `People sign in at ${baseUrl}/dashboard: ${admin.email} with the password ${admin.password}\n`;
  return proxyUrl === undefined
    ? `People come through your proxy, whose token says who they are (docs/people.md).\n`
    : `People come through the signing proxy: ${proxyUrl}/dashboard, or as somebody else ${proxyUrl}/as/ada@example.com\n`;
};

const curlLines = (baseUrl: string, apiKey: string, { rule }: Example): string[] => [
  `  curl -s ${baseUrl}/api/v1/solve/${rule.slug ?? ''} \\`,
  `    -H 'x-api-key: ${apiKey}' -H 'content-type: application/json' \\`,
  `    -d '${JSON.stringify(rule.sampleRequest)}'`,
];
