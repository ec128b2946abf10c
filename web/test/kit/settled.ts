import { act } from 'react';

/** Lets React and the answers of the server come to rest: they arrive while React expects changes. */
export async function settled(check: () => void): Promise<void> {
  for (let turn = 0; ; turn++) {
    await act(() => new Promise((resolve) => setTimeout(resolve)));
    try {
      check();
      return;
    } catch (error) {
      if (turn === 1000) throw error;
    }
  }
}
