import { randomBytes } from 'node:crypto';
import { hashPassword } from '@decision/service-kit';
import { type AdapterUnderTest, cookieOf } from './adapter-under-test';

export const PASSWORD = 'correct horse battery';

export interface PersonUnderTest {
  readonly id: string;
  readonly email: string;
}

export interface PeopleUnderTest {
  /** A new person whose password is {@link PASSWORD}. */
  add(): Promise<PersonUnderTest>;
  /** Sends a form like a page of the service. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** The text of a page. */
  read(path: string, cookie?: string): Promise<string>;
  /** The cookie of a new session; undefined if none is set. */
  signIn(email: string, password?: string): Promise<string | undefined>;
  isSignedIn(cookie?: string): Promise<boolean>;
}

/** People of an adapter, and their browsers. */
export const openPeopleUnderTest = (adapter: () => AdapterUnderTest): PeopleUnderTest => {
  const hash = hashPassword(PASSWORD, randomBytes);
  let added = 0;
  const post: PeopleUnderTest['post'] = (path, fields, headers = {}) =>
    fetch(`${adapter().url}${path}`, {
      ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) },
      headers: { origin: adapter().url, ...headers },
    });
  return {
    add: async () => {
      const email = `person-${(added += 1)}@example.com`;
      const [row] = await adapter().sql(
        `insert into users (workspace_id, email, role, password_hash) values ('${adapter().workspaceId}', '${email}', 'developer', '${await hash}') returning id`,
      );
      return { email, id: String(row?.['id']) };
    },
    post,
    read: async (path, cookie = '') => (await fetch(`${adapter().url}${path}`, { headers: { cookie } })).text(),
    signIn: async (email, password = PASSWORD) => cookieOf(await post('/auth/signin', { email, password })),
    isSignedIn: async (cookie = '') =>
      (await fetch(`${adapter().url}/auth/check`, { headers: { cookie } })).headers.get('x-decision-session') !== null,
  };
};
