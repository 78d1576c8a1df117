import { page } from '@decision/contracts';
import { type DoorRoute } from '../door/route';
import { redirectTo } from '../pages/html';

const PAGES = [
  { path: '/auth/signin', id: 'SignIn', what: 'sign-in' },
  { path: '/auth/signup', id: 'SignUp', what: 'sign-up' },
  { path: '/auth/forgotpass', id: 'ForgotPassword', what: 'forgotten passwords' },
  { path: '/auth/changepass', id: 'ChangePassword', what: 'changed passwords' },
] as const;

const DASHBOARD = '/dashboard';

/** In passthrough mode nobody signs in here: the pages for it, and their forms, lead to the dashboard. */
export const signInRedirects = (): readonly DoorRoute[] =>
  PAGES.flatMap(({ path, id, what }) =>
    (['get', 'post'] as const).map((method) => ({
      operation: page({
        id: `${method === 'get' ? 'skip' : 'skipFormOf'}${id}`,
        method,
        path,
        status: 303,
        summary: `In passthrough mode the ${method === 'get' ? 'page' : 'form'} for ${what} leads to the dashboard`,
      }),
      answer: () => redirectTo(DASHBOARD),
    })),
  );
