//! The auto traits of public types: the compiler checks which types can be shared, cloned and sent, and which futures can be
//! spawned.

use std::fmt::Debug;
use std::time::Duration;

use envd_sdk::auth::{
    AccessToken, DeviceLogin, FileStore, MemoryStore, PendingLogin, Provider, ProviderBuilder,
    StaticToken, TokenManager, TokenManagerBuilder, TokenSet,
};
use envd_sdk::fake::Fake;
use envd_sdk::loopback::Loopback;
use envd_sdk::model::{Consignment, ConsignmentInput, Property};
use envd_sdk::profile::ServiceProfile;
use envd_sdk::register::{LookupMany, PagePosition, Register, RegisterBuilder};
use envd_sdk::validate::{Context, Form, Questionnaire, Report};
use envd_sdk::{
    AccountClient, Call, Client, ClientBuilder, Clock, Error, HttpOptions, Items, Outcome, Page,
    Pager, RetryPolicy, Secret,
};

const fn is_handle<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_shared<T: Debug + Send + Sync + 'static>() {}
const fn is_sent<T: Debug + Send + 'static>() {}

/// Types that can be cloned, shared and sent to other threads.
const _: () = {
    is_handle::<AccountClient>();
    is_handle::<Client>();
    is_handle::<Clock>();
    is_handle::<Error>();
    is_handle::<HttpOptions>();
    is_handle::<Outcome<Consignment>>();
    is_handle::<RetryPolicy>();
    is_handle::<Secret>();
    is_handle::<AccessToken>();
    is_handle::<MemoryStore>();
    is_handle::<Provider>();
    is_handle::<StaticToken>();
    is_handle::<TokenManager>();
    is_handle::<TokenSet>();
    is_handle::<Register>();
    is_handle::<ConsignmentInput>();
    is_handle::<ServiceProfile>();
    is_handle::<Context>();
    is_handle::<Form>();
    is_handle::<Questionnaire>();
    is_handle::<Report>();
};

/// Types with one owner that several threads can read.
const _: () = {
    is_shared::<Fake>();
    is_shared::<FileStore>();
    is_shared::<PendingLogin>();
    is_shared::<DeviceLogin>();
    is_shared::<ClientBuilder>();
    is_shared::<ProviderBuilder>();
    is_shared::<TokenManagerBuilder>();
    is_shared::<RegisterBuilder>();
    is_shared::<Page<Consignment>>();
};

/// Types with one owner that can move to another thread.
const _: () = {
    is_sent::<Call<Outcome<Consignment>>>();
    is_sent::<Items<Consignment>>();
    is_sent::<Loopback>();
    is_sent::<LookupMany>();
    is_sent::<Pager<Consignment>>();
    is_sent::<Pager<Property, PagePosition>>();
};

fn may_be_spawned<T>(_future: impl Future<Output = T> + Send) {}

/// All asynchronous functions, except calls: a call returns a boxed future that is `Send`.
#[expect(dead_code, reason = "only the compiler reads it")]
fn futures_may_be_spawned(
    manager: &TokenManager,
    provider: (Provider, ProviderBuilder),
    logins: (PendingLogin, DeviceLogin, PendingLogin, PendingLogin),
    loopback: (Loopback, Loopback),
    lists: (&mut Pager<Consignment>, &mut Items<Consignment>),
    lookups: (&mut LookupMany, LookupMany),
    clock: &Clock,
) {
    let (provider, builder) = provider;
    let (first, device, second, third) = logins;
    let (mut listening, other) = loopback;
    may_be_spawned(builder.discover());
    may_be_spawned(provider.authorization().start_device());
    may_be_spawned(manager.complete_login(first, "https://localhost/callback"));
    may_be_spawned(manager.complete_device_login(device));
    may_be_spawned(manager.access_token());
    may_be_spawned(manager.logout(None));
    may_be_spawned(manager.flush(Duration::ZERO));
    may_be_spawned(manager.shutdown(Duration::ZERO));
    may_be_spawned(manager.inspect());
    may_be_spawned(Loopback::bind());
    may_be_spawned(Loopback::builder().bind());
    may_be_spawned(listening.open_browser(&second));
    may_be_spawned(other.log_in(manager, third));
    may_be_spawned(lists.0.next_page());
    may_be_spawned(lists.1.next());
    may_be_spawned(lookups.0.next());
    may_be_spawned(lookups.1.collect());
    may_be_spawned(clock.sleep(Duration::ZERO));
}
