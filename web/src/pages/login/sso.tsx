/** The OpenID Connect login: a link to the issuer, and the error if the last login failed there. */
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { LogIn } from 'lucide-react';
import * as queries from '@/api/queries';
import { Button } from '@/ui/button';
import { explainRefusal, loginAddress } from './refusal';

/** Why the last single sign-on login was rejected; renders nothing if it was not. */
export function LoginRefusal() {
  const { error } = useSearch({ from: '/login' });
  const refusal = explainRefusal(error);
  if (refusal === undefined) return null;
  return (
    <p
      role="alert"
      className="mt-4 rounded-md border border-bad/40 bg-bad-soft px-3 py-2 break-words text-bad"
      data-testid="login-refusal"
    >
      {refusal.message} <span className="font-mono text-xs">{refusal.code}</span>
    </p>
  );
}

/** The login button, if the server has an issuer. */
export function SingleSignOn() {
  const { next } = useSearch({ from: '/login' });
  const { data: who } = useQuery(queries.me());
  const oidc = who?.oidc;
  if (!oidc) return <p className="mt-1 text-ink-soft">This server requires an API key.</p>;
  return (
    <>
      <p className="mt-1 text-ink-soft">Log in with your organization’s account, or with an API key.</p>
      <Button asChild variant="primary" className="mt-6 w-full whitespace-normal">
        <a href={loginAddress(oidc.url, next)} data-testid="login-sso">
          <LogIn aria-hidden /> {oidc.label}
        </a>
      </Button>
    </>
  );
}
