/** Sessions of the shared fleet are signed with it. In a file of its own: the process that starts the fleet loads nothing else before it must. */
export const SHARED_JWT_SECRET = 'the secret of the shared fleet, and of nothing else';
