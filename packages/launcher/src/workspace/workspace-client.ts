import { LaunchError } from '../launch-error';

/** The API as an importer uses it. */
export interface WorkspaceClient {
  /** Sends JSON to a path under /api/v1 and answers the body. Throws {@link LaunchError} with the API's answer where it refuses. */
  send(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown>;
}

/** Address of a workspace, and a key that may write it. */
export interface WorkspaceAddress {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Values and rules of any size are written within this time, ms. */
const CALL_DEADLINE_MS = 60_000;
const MAX_SHOWN = 2_000;

export const createWorkspaceClient = ({ baseUrl, apiKey }: WorkspaceAddress): WorkspaceClient => ({
  send: async (method, path, body) => {
    const response = await reach(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    });
    const answer = await response.text();
    if (!response.ok) throw new LaunchError(`${response.status} ${answer.slice(0, MAX_SHOWN)}`);
    return JSON.parse(answer) as unknown; // what the API answers
  },
});

const reach = async (url: string, request: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, request);
  } catch (cause) {
    throw new LaunchError(`${new URL(url).origin} did not answer. Is the service running?`, { cause });
  }
};
