// The form works without this script where the app's address is an ordinary web address. With it, other addresses work as
// well (a browser does not follow a form to them), and a refusal is shown on the spot.
const form = document.querySelector('form[data-decision]');

function show(text) {
  const alert = document.querySelector('[role="alert"]');
  alert.textContent = text;
  alert.hidden = false;
}

function toBody(data) {
  const from = data.get('dataFrom');
  return {
    scopes: data.getAll('scopes'),
    expiresInDays: Number(data.get('expiresInDays')),
    ...(from ? { dataFrom: from } : {}),
  };
}

async function decide(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) return show(answer.detail);
  const { redirectUri } = answer.data;
  if (/^(javascript|data|blob|vbscript):/i.test(redirectUri)) return show('The app gave a bad address.');
  location.assign(redirectUri);
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  const denies = event.submitter?.hasAttribute('formaction');
  const url = denies ? event.submitter.formAction : form.action;
  const body = denies ? {} : toBody(new FormData(form));
  const buttons = form.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  decide(url, body)
    .catch(() => show('That did not work. Please try again.'))
    .finally(() => {
      for (const button of buttons) button.disabled = false;
    });
});
