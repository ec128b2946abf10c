import { act } from 'react';

/** Waits until React and the server's responses settle, inside act so that React expects the updates. */
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
