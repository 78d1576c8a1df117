/** The role that services act as: it cannot log in, owns nothing and is subject to row security (decision 6). One for the whole server. */
export const runtimeRole = 'decision_runtime';
