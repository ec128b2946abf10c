/** Exchanges an API key for a browser session. The server keeps the session; the page never stores the key. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { Eye, EyeOff } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { api, body, rememberToken } from '@/api/client';
import { asProblem } from '@/api/problem';
import * as queries from '@/api/queries';
import { Mark } from '@/app/mark';
import { ThemeMenu } from '@/app/menus';
import { useTitle } from '@/app/title';
import { Button } from '@/ui/button';
import { Code } from '@/ui/code';
import { Input } from '@/ui/input';
import { LoginRefusal, SingleSignOn } from './sso';

export function LoginPage() {
  useTitle('Log in');
  return (
    <div className="flex min-h-full flex-col">
      <header className="flex h-12 items-center justify-between px-4">
        <span className="flex items-center gap-2 font-semibold">
          <Mark /> TARSy
        </span>
        <ThemeMenu />
      </header>
      <main className="mx-auto w-full max-w-md flex-1 px-4 pt-[8vh] pb-12">
        <h1 className="text-xl font-semibold">Log in</h1>
        <LoginRefusal />
        <SingleSignOn />
        <LoginForm />
        <KeyHelp />
      </main>
    </div>
  );
}

function LoginForm() {
  const [key, setKey] = useState('');
  const [visible, setVisible] = useState(false);
  const { next } = useSearch({ from: '/login' });
  const router = useRouter();
  const queryClient = useQueryClient();
  const field = useId();
  const login = useMutation({
    mutationFn: (secret: string) => body(api.POST('/api/v1/login', { body: { key: secret } })),
    onSuccess: (who) => {
      rememberToken(who.csrf_token);
      queryClient.setQueryData(queries.keys.me, who);
      router.history.replace(next ?? '/');
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const secret = key.trim();
    if (secret !== '' && !login.isPending) login.mutate(secret);
  };
  const problem = login.error ? asProblem(login.error) : undefined;
  return (
    <form onSubmit={submit} className="mt-6 rounded-lg border border-line bg-surface p-4">
      <label htmlFor={field} className="font-medium">
        API key
      </label>
      <div className="mt-1 flex gap-1">
        <Input
          id={field}
          type={visible ? 'text' : 'password'}
          name="key"
          // Lets password managers save the key: nobody can memorize one.
          autoComplete="current-password"
          spellCheck={false}
          autoCapitalize="off"
          autoFocus
          placeholder="Paste your key"
          className="font-mono"
          value={key}
          onChange={(event) => setKey(event.target.value)}
          aria-invalid={problem !== undefined}
          aria-describedby={problem ? `${field}-problem` : undefined}
          data-testid="login-key"
        />
        <Button
          variant="ghost"
          className="w-9 px-0"
          aria-label="Show key"
          aria-pressed={visible}
          onClick={() => setVisible(!visible)}
        >
          {visible ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </Button>
      </div>
      <div id={`${field}-problem`} role="alert" className="text-bad">
        {problem && (
          <p className="mt-2 break-words">
            {problem.message} <span className="font-mono text-xs">{problem.code}</span>
          </p>
        )}
      </div>
      <Button
        type="submit"
        variant="primary"
        className="mt-4 w-full"
        disabled={key.trim() === '' || login.isPending}
        data-testid="login-submit"
      >
        {login.isPending ? 'Logging in…' : 'Log in'}
      </Button>
    </form>
  );
}

function KeyHelp() {
  return (
    <section className="mt-6 space-y-2 text-ink-soft">
      <h2 className="font-semibold text-ink">API keys</h2>
      <p>
        The first key is in the file <code className="font-mono text-xs text-ink">admin-key</code> in the server’s data
        directory. Use it to create more:
      </p>
      <Code text="tarsy keys create me --scope write" />
      <p>If you lost it, create a new one directly in the database:</p>
      <Code text={'tarsy keys create rescue --scope admin \\\n  --database-url postgres://…'} />
      <p>
        <b className="font-semibold text-ink">read</b> can view everything,{' '}
        <b className="font-semibold text-ink">write</b> can also submit and cancel,{' '}
        <b className="font-semibold text-ink">admin</b> can also manage keys. A login lasts one week, or until its key
        is revoked.
      </p>
    </section>
  );
}
