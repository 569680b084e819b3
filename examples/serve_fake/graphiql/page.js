// Starts GraphiQL with the settings in the page, which are JSON.
import { GraphiQL } from 'graphiql';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { h, render } from 'preact';
import 'graphiql/graphiql.css';

const settings = JSON.parse(document.getElementById('settings').textContent);
const fetcher = createGraphiQLFetcher({
  url: settings.url,
  // Headers that the user sets in GraphiQL replace these.
  headers: { authorization: `Bearer ${settings.token}` },
});
const tab = { query: settings.query };
render(
  h(GraphiQL, { fetcher, defaultTabs: [tab] }),
  document.getElementById('graphiql'),
);
