// Copies the text next to a button. Without scripts the buttons stay hidden, and the user can select the texts.
const said = document.getElementById('copied');
for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      said.textContent = 'Copied.';
    } catch {
      said.textContent = 'The browser did not allow the copy: select the text instead.';
    }
    setTimeout(() => { said.textContent = ''; }, 3000);
  });
}
